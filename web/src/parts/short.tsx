/** Ids begin with their time, so the end is what differs. */
export const shortId = (id: string): string =>
  id.length > 18 ? `${id.slice(0, id.indexOf('_') + 1)}…${id.slice(-8)}` : id;

export const ShortId = ({ id }: { id: string }) => <code title={id}>{shortId(id)}</code>;

/** Actors are stored with their kind; for operators the kind is left out. */
export const actorName = (actor: string): string => actor.replace(/^operator:/, '');

/** A long text in a cell: cut to fit, complete in the title. */
export const Cut = ({ text, wide = false }: { text: string | null; wide?: boolean }) =>
  text ? (
    <span className={wide ? 'cut cut-wide' : 'cut'} title={text}>
      {text}
    </span>
  ) : (
    <span className="dim">—</span>
  );
