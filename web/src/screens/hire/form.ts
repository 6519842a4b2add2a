/** The fields of a job's input, read from the skill's schema. Pure. */

export interface Field {
  name: string;
  type: 'text' | 'number' | 'yes-no' | 'json';
  isRequired: boolean;
  about: string;
}

const TYPES: Record<string, Field['type']> = { string: 'text', number: 'number', integer: 'number', boolean: 'yes-no' };

/** The fields of an input; none where the schema does not say them, so that it is written as JSON. */
export function fieldsOf(schema: unknown): Field[] | undefined {
  if (typeof schema !== 'object' || schema === null) return undefined;
  const { properties, required } = schema as { properties?: Record<string, unknown>; required?: string[] };
  const isShort = properties === undefined && (schema as { type?: string }).type !== 'object' && Object.values(schema).every((value) => typeof value === 'string');
  const named = isShort ? Object.entries(schema) : Object.entries(properties ?? {});
  if (named.length === 0) return undefined;
  return named.map(([name, of]) => {
    const { type, description } = (typeof of === 'string' ? { type: of } : (of ?? {})) as { type?: string; description?: string };
    const isRequired = isShort || (required ?? []).includes(name);
    return { name, type: TYPES[type ?? ''] ?? 'json', isRequired, about: description ?? '' };
  });
}

/** The input as JSON; throws a sentence about the field that is wrong. */
export function inputOf(fields: readonly Field[], values: Record<string, string>): Record<string, unknown> {
  const input: Record<string, unknown> = {};
  for (const { name, type, isRequired } of fields) {
    const value = values[name] ?? '';
    if (value === '' && !isRequired) continue;
    if (type === 'text') input[name] = value;
    else if (type === 'yes-no') input[name] = value === 'true';
    else if (type === 'number') input[name] = numberOf(name, value);
    else input[name] = jsonOf(name, value);
  }
  return input;
}

function numberOf(name: string, value: string): number {
  const number = Number(value);
  if (value.trim() === '' || !Number.isFinite(number)) throw new Error(`${name} is a number.`);
  return number;
}

export function jsonOf(name: string, value: string): unknown {
  try {
    return JSON.parse(value) as unknown;
  } catch {
    throw new Error(`${name} is written as JSON.`);
  }
}

/** `/hire @translator translate_text`: whom, and for which skill; none for another text. */
export function hireCommand(text: string): { agent?: string; skill?: string } | undefined {
  const found = /^\/hire(?:\s+(@?\S+))?(?:\s+(\S+))?\s*$/.exec(text);
  if (found === null) return undefined;
  const asked: { agent?: string; skill?: string } = {};
  if (found[1] !== undefined) asked.agent = found[1];
  if (found[2] !== undefined) asked.skill = found[2];
  return asked;
}
