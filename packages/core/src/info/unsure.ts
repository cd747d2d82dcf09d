/** What a fold cannot tell by the lines alone. */
import { PREFIX } from "../format/blob-signs.ts"
import type { Entry } from "../format/records.ts"
import type { InfoFold } from "./info.ts"

/** Whether an entry that names or describes the session does so with what lies in the blob store. */
export function isValueApart(entry: Entry): boolean {
  if (entry.type !== "title_change" && entry.type !== "metadata") return false
  return entry.blobs !== undefined && JSON.stringify(entry).includes(PREFIX)
}

/** Whether only the log can tell what a fold should say; nothing is folded onto it then. */
export function isUnsure(fold: Pick<InfoFold, "promptsLost" | "valuesApart">): boolean {
  return fold.promptsLost === true || fold.valuesApart === true
}
