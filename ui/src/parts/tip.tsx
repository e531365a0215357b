import {
  createContext,
  type FocusEvent,
  type PointerEvent,
  type ReactNode,
  useContext,
  useId,
  useMemo,
  useState,
} from "react";

type Shown = { text: string; x: number; y: number } | null;
const Tips = createContext<{ show: (shown: Shown) => void; id: string }>({
  show: () => {},
  id: "",
});

const MARGIN = 12;
const WIDTH = 400;

/** One tip for the whole page, beside the pointer or below what has the focus. */
export function TipProvider({ children }: { children: ReactNode }) {
  const [shown, show] = useState<Shown>(null);
  const id = useId();
  const value = useMemo(() => ({ show, id }), [id]);
  const left = shown && Math.max(MARGIN, Math.min(shown.x, window.innerWidth - WIDTH));
  return (
    <Tips value={value}>
      {children}
      {shown && (
        <div className="tip" role="tooltip" id={id} style={{ left: left ?? 0, top: shown.y }}>
          {shown.text}
        </div>
      )}
    </Tips>
  );
}

/** A function that shows a text beside a pointer, and hides it when given null. */
export function useShowTip() {
  const { show } = useContext(Tips);
  return (text: string | null, at?: { clientX: number; clientY: number }) =>
    show(text && at ? { text, x: at.clientX + MARGIN, y: at.clientY + MARGIN } : null);
}

/** Properties that make any element tell *text* on hover and on focus. */
export function useTip(text: string) {
  const { show, id } = useContext(Tips);
  const hide = () => show(null);
  return {
    "aria-describedby": id,
    onPointerEnter: (event: PointerEvent) =>
      show({ text, x: event.clientX + MARGIN, y: event.clientY + MARGIN }),
    onPointerLeave: hide,
    onFocus: (event: FocusEvent) => {
      const box = event.currentTarget.getBoundingClientRect();
      show({ text, x: box.left, y: box.bottom + 6 });
    },
    onBlur: hide,
  };
}
