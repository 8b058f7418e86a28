interface CheckListProps {
  label: string;
  options: string[];
  chosen: string[];
  onChange: (chosen: string[]) => void;
}

/** Any of a few names, which are shown as they are. */
export const CheckList = ({ label, options, chosen, onChange }: CheckListProps) => (
  <fieldset className="checks">
    <legend>{label}</legend>
    {options.map(option => (
      <label key={option}>
        <input
          type="checkbox"
          checked={chosen.includes(option)}
          onChange={event =>
            onChange(event.currentTarget.checked ? [...chosen, option] : chosen.filter(one => one !== option))
          }
        />
        <code>{option}</code>
      </label>
    ))}
  </fieldset>
);
