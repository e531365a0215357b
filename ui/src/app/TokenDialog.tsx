import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useEffect, useState } from "react";
import { token } from "@/api/token";
import { Dialog } from "@/parts/Dialog";

/** Asks for an access token whenever the server refuses a request for want of one. */
export function TokenDialog() {
  const [needed, setNeeded] = useState(false);
  const client = useQueryClient();
  useEffect(() => token.listen(setNeeded), []);
  if (!needed) return null;
  const enter = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    token.set(String(new FormData(event.currentTarget).get("token")).trim());
    client.invalidateQueries();
  };
  return (
    <Dialog title="This server needs a token" onClose={() => setNeeded(false)}>
      <form className="stack" onSubmit={enter}>
        <p>
          Make one where the server runs: <code>karat token create NAME</code>. It is kept until
          this tab is closed.
        </p>
        <label className="field">
          Token
          <input name="token" type="password" autoComplete="off" required />
        </label>
        <footer>
          <button type="submit" className="button main">
            Go on
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
