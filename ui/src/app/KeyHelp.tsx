import { Dialog } from "@/parts/Dialog";

const KEYS = [
  ["Ctrl K, /", "Jump to a benchmark, run, dataset, collection or query"],
  ["j, k", "Next and previous row or hit"],
  ["Enter", "Open it"],
  ["Esc", "Close, or leave a field"],
  ["0 1 2 3", "Grade the selected hit"],
  ["u", "Undo the last grade"],
  ["b", "Make the selected run the baseline"],
  ["?", "This help"],
] as const;

export function KeyHelp({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl className="facts">
        {KEYS.map(([keys, does]) => (
          <div key={keys} className="pair">
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
