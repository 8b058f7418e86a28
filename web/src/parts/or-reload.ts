const reloadedKey = 'kopeck-reloaded';
/** While two versions run side by side, the next load may get a mix of them again: then the reader decides. */
const onceInMs = 60_000;

/**
 * Loads a part of the pages. After an update its file may be gone, since its name contains a hash of its content: then the
 * page is reloaded, and gets the current names. Without a connection a reload would only lose the page.
 */
export async function orReload<Part>(loading: Promise<Part>): Promise<Part> {
  try {
    return await loading;
  } catch (error) {
    if (!mayReload() || !(await isServed())) throw error;
    sessionStorage.setItem(reloadedKey, `${Date.now()}`);
    location.reload();
    // Nothing may be shown until the reload.
    return new Promise(() => {});
  }
}

function mayReload(): boolean {
  const sinceMs = Date.now() - Number(sessionStorage.getItem(reloadedKey));
  // A clock that was set back must not forbid it for long.
  return sinceMs > onceInMs || sinceMs < 0;
}

const isServed = () =>
  fetch(import.meta.env.BASE_URL, { method: 'HEAD', cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  );
