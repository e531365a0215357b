/** What a report file says about itself; *blocks* has the number of the block of each document. */
export type Index = {
  subject: string;
  title: string;
  about: string;
  version: string;
  blocks: Readonly<Record<string, number>>;
};

type Params = Readonly<Record<string, string | number | undefined>>;
type Block = Readonly<Record<string, unknown>>;

let index: Index | null = null;
const unpacked = new Map<number, Promise<Block>>();

/** Reads documents from this HTML file from now on, instead of from a service. */
export function openFile(): Index {
  const text = document.getElementById("karat-index")?.textContent;
  if (!text) throw new Error("This file has no report data inside. Write it again: karat report.");
  index = JSON.parse(text) as Index;
  unpacked.clear();
  return index;
}

/** What the file says about itself, null where a service is asked. */
export const fileIndex = (): Index | null => index;

export const isFile = (): boolean => index !== null;

/** The name of a document: its path and its parameters by name, not encoded. */
function documentKey(path: string, params: Params = {}): string {
  const given = Object.entries(params)
    .filter(([, value]) => value !== undefined && value !== "")
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`);
  return decodeURIComponent(path) + (given.length > 0 ? `?${given.join("&")}` : "");
}

async function unpack(number: number): Promise<Block> {
  const packed = document.getElementById(`karat-block-${number}`)?.textContent ?? "";
  const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return (await new Response(stream).json()) as Block;
}

/** Whether a document can be had: always from a service, else where the file holds it. */
export function isThere(path: string, params: Params = {}): boolean {
  return index === null || index.blocks[documentKey(path, params)] !== undefined;
}

/** The document that the file holds under an address of the API; undefined where it holds none. */
export async function embedded(path: string, params: Params = {}): Promise<unknown> {
  const key = documentKey(path, params);
  const number = index?.blocks[key];
  if (number === undefined) return undefined;
  const block = unpacked.get(number) ?? unpack(number);
  unpacked.set(number, block);
  return (await block)[key];
}
