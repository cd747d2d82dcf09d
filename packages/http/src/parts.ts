/** What a client learns of the stored parts of a log: where each of them is in the store is for the host alone. */
import type { HeadInfo } from "@sessions/core/storage"

/** The same head or session information, without the places of its parts and of what was cut off. */
export function withoutPlaces<T extends Pick<HeadInfo, "parts" | "cut">>({ cut: _, ...known }: T): Omit<T, "cut"> {
  const { parts } = known
  return parts === undefined ? known : { ...known, parts: parts.map(({ from, bytes }) => ({ from, bytes })) }
}
