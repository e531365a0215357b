import { GREY } from "./colours";

type Line = { id: string; name: string; shade: string };
type Props = {
  lines: readonly Line[];
  /** What a click on a line's name does; names can be clicked where it is given. */
  onChoose?: ((id: string) => void) | undefined;
};

/** Which line is whose. */
export function LineKeys({ lines, onChoose }: Props) {
  return (
    <ul className="keys">
      {lines.map(({ id, name, shade }) => {
        const key = (
          <>
            <svg viewBox="0 0 26 10" className={`chart ${shade}`} aria-hidden="true">
              <path className={`line ${shade}`} d="M0 5H26" />
            </svg>
            {name}
          </>
        );
        return (
          <li key={id}>
            {onChoose ? (
              <button type="button" aria-pressed={shade !== GREY} onClick={() => onChoose(id)}>
                {key}
              </button>
            ) : (
              key
            )}
          </li>
        );
      })}
    </ul>
  );
}
