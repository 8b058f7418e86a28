export interface Answer {
  status: number;
  /** Strings and bytes are sent as they are, everything else as JSON. */
  body: unknown;
  contentType?: string;
  /** What a fault does to it: no answer, half of the body, or headers and nothing more. */
  damage?: 'lost' | 'cut' | 'stalled';
}

export const ok = (body: unknown): Answer => ({ status: 200, body });

export const refusal = (status: number, code: string, message: string): Answer => ({
  status,
  body: { code, message },
});
