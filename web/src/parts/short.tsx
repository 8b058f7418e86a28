/** Ids begin with their time, so the end is what differs. */
export const shortId = (id: string): string =>
  id.length > 18 ? `${id.slice(0, id.indexOf('_') + 1)}…${id.slice(-8)}` : id;

export const ShortId = ({ id }: { id: string }) => <code title={id}>{shortId(id)}</code>;

/** Actors are stored with their kind; for operators the kind is left out. */
export const actorName = (actor: string): string => actor.replace(/^operator:/, '');

/** A name in a cell. It wraps: two long names that were cut would look alike. */
export const Name = ({ text }: { text: string }) => <span className="name">{text}</span>;

/** A long id in a cell: both ends are shown, since either may be what differs; complete in the title. */
export const Middle = ({ text }: { text: string | null }) => {
  if (text === null) return <span className="dim">—</span>;
  const letters = [...text];
  const shown =
    letters.length > 24 ? `${letters.slice(0, 11).join('')}…${letters.slice(-12).join('')}` : text;
  return (
    <span className="name" title={text}>
      {shown}
    </span>
  );
};

/** A hash or an address on a chain: people compare its ends; complete in the title. */
export const ShortHash = ({ text }: { text: string }) => (
  <code title={text}>{text.length > 16 ? `${text.slice(0, 8)}…${text.slice(-6)}` : text}</code>
);

/** A long text in a cell: cut to fit, complete in the title. */
export const Cut = ({ text }: { text: string | null }) =>
  text ? (
    <span className="cut" title={text}>
      {text}
    </span>
  ) : (
    <span className="dim">—</span>
  );
