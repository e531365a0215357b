import { type FormEvent, useEffect, useState } from "react";
import { session } from "@/api/session";
import { useSignIn } from "@/api/system";
import { Dialog } from "@/parts/Dialog";
import { Problem } from "@/parts/Notes";

/** Asks for an access token whenever the server refuses a request for want of one. */
export function TokenDialog() {
  const [needed, setNeeded] = useState(false);
  const signIn = useSignIn();
  useEffect(() => session.listen(setNeeded), []);
  if (!needed) return null;
  const enter = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    signIn.mutate(String(new FormData(event.currentTarget).get("token")).trim());
  };
  return (
    <Dialog title="This server needs a token" onClose={() => setNeeded(false)}>
      <form className="stack" onSubmit={enter}>
        <p>
          Create one on the server: <code>karat token create NAME</code>. It is kept until the
          browser is closed.
        </p>
        <label className="field">
          Token
          <input name="token" type="password" autoComplete="off" required />
        </label>
        <Problem of={signIn.error} />
        <footer>
          <button type="submit" className="button main" disabled={signIn.isPending}>
            Continue
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
