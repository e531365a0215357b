import { useMe } from "@/api/system";
import type { Column } from "./DataTable";

type Owned = { owner_id: string };

/** The column with the owners, where tokens tell them apart. */
export function useOwnerColumn(): Column<Owned>[] {
  if (!useMe().data?.authenticated) return [];
  return [
    { id: "owner", header: "Owner", sort: (row) => row.owner_id, cell: (row) => row.owner_id },
  ];
}
