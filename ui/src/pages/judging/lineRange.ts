/** The lines of a hit as a judgment names them; a whole document has none. */
export function lineRange({ start_line, end_line }: { start_line: number; end_line: number }) {
  return start_line === 0 ? { start_line: null, end_line: null } : { start_line, end_line };
}
