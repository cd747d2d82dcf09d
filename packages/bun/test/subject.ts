import type { Subject } from "@sessions/conformance"
import type { Capabilities } from "@sessions/core/storage"
import { createBunStorage } from "@sessions/bun"
import { createSubject, type Place } from "../../fs/test/subject.ts"

export const bun: Subject<Place> = subjectWith("bun", {})
export const bunInParts: Subject<Place> = subjectWith("bun in parts", { maxPartBytes: 2_000_000 })

/** What {@link bun} can do, for runners that must know before a case starts. */
export const capabilities: Capabilities = createBunStorage({ root: "." }).capabilities

/** The files are those of `@sessions/fs`: so are the powers over them, and its storages read and write the same places. */
function subjectWith(name: string, options: { readonly maxPartBytes?: number }): Subject<Place> {
  const fs = createSubject(name, options)
  const across = [{ name: "fs", open: (place: Place) => fs.open(place) }]
  return { ...createSubject(name, options, createBunStorage), across }
}
