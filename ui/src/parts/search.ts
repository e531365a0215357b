let read = (): string => window.location.search;

/** The part of the address after the question mark, as it is now. */
export const currentSearch = (): string => read();

/** Says where that part is, for a page that has its address elsewhere. */
export function readSearchFrom(source: () => string): void {
  read = source;
}
