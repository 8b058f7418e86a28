import { type ApiDocument, nothingSaid, type Operation } from './document.ts';

type Translate = (text: string) => string;

/**
 * The document with its texts in another language: descriptions and summaries, names of tags, messages of errors. Names,
 * values and examples of bodies stay as programs send and receive them.
 */
export function translateDocument(document: ApiDocument, translate: Translate): ApiDocument {
  const translated = translateTexts(document, translate) as ApiDocument;
  return { ...translated, tags: translated.tags.map(tag => ({ ...tag, title: translate(tag.name) })) };
}

function translateTexts(value: unknown, translate: Translate): unknown {
  if (Array.isArray(value)) return value.map(one => translateTexts(one, translate));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => {
      if (key === 'examples') return [key, translateExamples(one, translate)];
      if (key === 'responses') return [key, translateResponses(one as Operation['responses'], translate)];
      const isText = (key === 'summary' || key === 'description') && typeof one === 'string';
      return [key, isText ? translate(one) : translateTexts(one, translate)];
    }),
  );
}

/** The descriptions of refusals list their codes, which the reference shows in a table. */
const translateResponses = (responses: Operation['responses'], translate: Translate) =>
  Object.fromEntries(
    Object.entries(responses).map(([status, { description, ...rest }]) => {
      const isShown = !/^[45]/.test(status) && description !== nothingSaid;
      return [
        status,
        {
          ...(translateTexts(rest, translate) as object),
          description: isShown ? translate(description) : description,
        },
      ];
    }),
  );

/** Those of a body have a name and a summary each; those of a schema are values. */
function translateExamples(examples: unknown, translate: Translate): unknown {
  if (Array.isArray(examples)) return examples;
  return Object.fromEntries(
    Object.entries(examples as Record<string, { summary?: string; value: unknown }>).map(
      ([name, { summary, value }]) => [
        name,
        {
          ...(summary !== undefined && { summary: translate(summary) }),
          value: translateError(value, translate),
        },
      ],
    ),
  );
}

/** Of an error the reference shows the message as the meaning of its code, and no JSON. */
function translateError(value: unknown, translate: Translate): unknown {
  const { error } = value as { error?: { message: string } };
  const isRefusal = error && 'retryable' in error;
  return isRefusal ? { error: { ...error, message: translate(error.message) } } : value;
}
