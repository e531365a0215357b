import { nextTheme, useTheme } from "@/parts/theme";

const SIGNS: Record<string, string> = { system: "◐", light: "☀", dark: "☾" };

/** Steps through the colours: those of the system, light, dark. */
export function ThemeButton() {
  const [theme = "system"] = useTheme().split(":");
  return (
    <button
      type="button"
      className="button plain"
      aria-label={`Colours: ${theme}; press for the next`}
      onClick={nextTheme}
    >
      {SIGNS[theme]}
    </button>
  );
}
