/** A text in both languages. What is the same in both is written once. */
export type Both = readonly [en: string, ru: string];
export type Words = Record<string, Both | string>;
export type Facts = Record<string, (value: string) => Both>;

export interface Texts {
  readonly [key: string]: string | Both | ((...values: never[]) => Both) | Texts;
}

export type InOne<T> = T extends string | Both
  ? string
  : T extends (...values: infer Values) => Both
    ? (...values: Values) => string
    : { readonly [Key in keyof T]: InOne<T[Key]> };

/** The texts of one language; 0 is English, 1 is Russian. */
export const inOne = <T extends Texts>(texts: T, language: 0 | 1) => textIn(texts, language) as InOne<T>;

function textIn(text: Texts[string], language: 0 | 1): unknown {
  if (typeof text === 'string') return text;
  if (isBoth(text)) return text[language];
  if (typeof text === 'function') return (...values: never[]) => text(...values)[language];
  return Object.fromEntries(Object.entries(text).map(([key, one]) => [key, textIn(one, language)]));
}

const isBoth = (text: Texts[string]): text is Both => Array.isArray(text);
