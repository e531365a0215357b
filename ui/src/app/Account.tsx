import { useMe, useSignOut } from "@/api/system";

/** Whose token is in use and what it may do, with the way to leave; nothing where none is needed. */
export function Account() {
  const me = useMe().data;
  const leave = useSignOut();
  if (!me?.authenticated) return null;
  const scope = me.scopes.at(-1);
  return (
    <span className="row account">
      <span title={`Token of ${me.owner_id}, scope ${scope}`}>
        {me.owner_id} <small className="inline">{scope === "read" ? "read only" : scope}</small>
      </span>
      <button
        type="button"
        className="button plain small"
        disabled={leave.isPending}
        onClick={() => leave.mutate()}
      >
        Sign out
      </button>
    </span>
  );
}
