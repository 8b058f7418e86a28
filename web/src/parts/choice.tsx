interface ChoiceProps<Value extends string> {
  label: string;
  value: Value;
  options: [value: Value, text: string][];
  onChange: (value: Value) => void;
}

/** One of a few. */
export function Choice<Value extends string>({ label, value, options, onChange }: ChoiceProps<Value>) {
  return (
    <fieldset className="choice">
      <legend className="unseen">{label}</legend>
      {options.map(([one, text]) => (
        <button key={one} type="button" aria-pressed={one === value} onClick={() => onChange(one)}>
          {text}
        </button>
      ))}
    </fieldset>
  );
}
