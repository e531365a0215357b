import { type ReactNode, useEffect, useId, useRef } from "react";

type Props = { title: string; wide?: boolean; onClose: () => void; children: ReactNode };

/** A modal dialog. The browser keeps the focus inside, closes on Escape and gives the focus back. */
export function Dialog({ title, wide = false, onClose, children }: Props) {
  const box = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    box.current?.showModal();
    // Whoever opens a form wants its first field, not the button that closes it.
    box.current?.querySelector<HTMLElement>(".body :is(input, select)")?.focus();
  }, []);
  return (
    <dialog ref={box} className={wide ? "wide" : undefined} aria-labelledby={id} onClose={onClose}>
      <header>
        <h2 id={id}>{title}</h2>
        <button
          type="button"
          className="button plain"
          aria-label="Close"
          onClick={() => box.current?.close()}
        >
          ✕
        </button>
      </header>
      <div className="body">{children}</div>
    </dialog>
  );
}
