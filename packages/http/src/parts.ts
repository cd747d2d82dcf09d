/** What a client learns of the stored parts of a log: where each of them is in the store is for the host alone. */
import type { PartInfo } from "@sessions/core/storage"

/** The same head or session information, without the places of its parts. */
export function withoutPlaces<T extends { readonly parts?: readonly PartInfo[] }>(known: T): T {
  const { parts } = known
  return parts === undefined ? known : { ...known, parts: parts.map(({ from, bytes }) => ({ from, bytes })) }
}
