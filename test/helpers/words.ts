/** For long lists: the words of a text. */
export const words = (text: string) => text.trim().split(/\s+/);
