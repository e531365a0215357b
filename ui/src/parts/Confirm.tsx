import { useState } from "react";
import { Dialog } from "./Dialog";
import { Problem } from "./Notes";

type Props = {
  label: string;
  question: string;
  /** What pressing the button does; a rejection is shown in the dialog. */
  onConfirm: () => Promise<unknown>;
};

/** A button whose deed cannot be undone, so it asks first. */
export function Confirm({ label, question, onConfirm }: Props) {
  const [open, setOpen] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const confirm = () => onConfirm().then(() => setOpen(false), setProblem);
  return (
    <>
      <button type="button" className="button bad" onClick={() => setOpen(true)}>
        {label}
      </button>
      {open && (
        <Dialog title={label} onClose={() => setOpen(false)}>
          <p>{question}</p>
          <Problem of={problem} />
          <footer>
            <button type="button" className="button" onClick={() => setOpen(false)}>
              Cancel
            </button>
            <button type="button" className="button bad" onClick={confirm}>
              {label}
            </button>
          </footer>
        </Dialog>
      )}
    </>
  );
}
