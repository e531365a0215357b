import { useCallback } from "react";
import { useSearchParams } from "wouter";
import { currentSearch } from "./search";

/**
 * A piece of the view that lives in the address, so that a link shows what its sender saw. The
 * fallback is not written; a change replaces the entry in the history.
 */
export function useUrlState(name: string, fallback: string): [string, (value: string) => void];
export function useUrlState<Value extends string>(
  name: string,
  fallback: Value,
): [Value, (value: Value) => void];
export function useUrlState<Value extends string>(
  name: string,
  fallback: Value,
): [Value, (value: Value) => void] {
  const [params, setParams] = useSearchParams();
  const value = (params.get(name) ?? fallback) as Value;
  const set = useCallback(
    (next: Value) =>
      setParams(
        () => {
          // Not what was last drawn: another piece may have been set since, by the same key or click.
          const after = new URLSearchParams(currentSearch());
          if (next === fallback) after.delete(name);
          else after.set(name, next);
          return after;
        },
        { replace: true },
      ),
    [name, fallback, setParams],
  );
  return [value, set];
}
