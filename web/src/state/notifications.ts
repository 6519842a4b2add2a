/** Notifications of the browser: for what is meant for the person, and while the page is not seen. */
import type { Channel, Message } from '../api/types';

export function canAsk(): boolean {
  return 'Notification' in globalThis && Notification.permission === 'default';
}

export async function ask(): Promise<boolean> {
  return (await Notification.requestPermission()) === 'granted';
}

export function notifyOf(message: Message, channel: Channel | undefined, show: () => void): void {
  if (!('Notification' in globalThis) || Notification.permission !== 'granted' || document.hasFocus()) return;
  const place = channel?.kind === 'channel' ? ` in #${channel.title}` : '';
  const notification = new Notification(`${message.author.display_name}${place}`, {
    body: (message.text ?? '').slice(0, 200),
    tag: message.event_id,
  });
  notification.onclick = () => {
    focus();
    show();
    notification.close();
  };
}
