/** Rendering of entries that may refer to blobs. Apart from `render.ts`: most contexts have none, and a page need not load it for them. */
import { missingBlobs, withoutReferences } from "./missing-blobs.ts"
import { renderSelected } from "./render.ts"
import type { PlacedMessages } from "./render.ts"
import type { SelectedEntry } from "./select.ts"

export function renderMessages(selected: readonly SelectedEntry[]): PlacedMessages {
  return renderSelected(selected, { missingBlobs, withoutReferences })
}
