// Choices of the reader. A browser that stores nothing has them until the next page.
const prefix = 'kopeck-docs-';

export function read(name) {
  try {
    return localStorage.getItem(prefix + name) ?? '';
  } catch {
    return '';
  }
}

export function write(name, value) {
  try {
    localStorage.setItem(prefix + name, value);
  } catch {
    // Nothing to do: the choice holds for this page.
  }
}
