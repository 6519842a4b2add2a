import { mount } from 'svelte';
import App from './App.svelte';
import { app } from './state/app.svelte';
import './styles/tokens.css';
import './styles/base.css';
import './styles/markdown.css';
import './styles/talk.css';

const target = document.getElementById('app');
if (target !== null) mount(App, { target });
void app.start();
