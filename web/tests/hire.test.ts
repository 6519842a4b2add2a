import { expect, test } from 'vitest';
import { fieldsOf, hireCommand, inputOf } from '../src/screens/hire/form';

test('the fields of an input are read from both forms of a schema', () => {
  expect(fieldsOf({ text: 'string', times: 'integer' })).toEqual([
    { name: 'text', type: 'text', isRequired: true, about: '' },
    { name: 'times', type: 'number', isRequired: true, about: '' },
  ]);
  const schema = { type: 'object', properties: { to: { type: 'string', description: 'a language' }, list: { type: 'array' } }, required: ['to'] };
  expect(fieldsOf(schema)).toEqual([
    { name: 'to', type: 'text', isRequired: true, about: 'a language' },
    { name: 'list', type: 'json', isRequired: false, about: '' },
  ]);
  for (const none of [undefined, null, {}, { type: 'object' }, { type: 'object', additionalProperties: {} }]) expect(fieldsOf(none)).toBeUndefined();
});

test('an input is what its fields say, or a sentence about the one that is wrong', () => {
  const fields = fieldsOf({ text: 'string', times: 'number', loud: 'boolean', list: 'list' })!;
  const values = { text: 'hi', times: '2.5', loud: 'true', list: '[1]' };
  expect(inputOf(fields, values)).toEqual({ text: 'hi', times: 2.5, loud: true, list: [1] });
  expect(() => inputOf(fields, { ...values, times: 'two' })).toThrow('times is a number.');
  expect(() => inputOf(fields, { ...values, list: '[' })).toThrow('list is written as JSON.');
});

test('/hire says whom and for what, and other texts are messages', () => {
  expect(hireCommand('/hire')).toEqual({});
  expect(hireCommand('/hire @translator translate_text')).toEqual({ agent: '@translator', skill: 'translate_text' });
  for (const text of ['hire @translator', '/hired', '/hire @a b c', 'please /hire']) expect(hireCommand(text)).toBeUndefined();
});
