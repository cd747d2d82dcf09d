import type { Subject } from "@sessions/conformance"
import type { Capabilities } from "@sessions/core/storage"
import { createBunStorage } from "@sessions/bun"
import { createSubject, type Place } from "../../fs/test/subject.ts"

/** The files are those of `@sessions/fs`, and so are the powers over them. */
export const bun: Subject<Place> = createSubject("bun", {}, createBunStorage)
export const bunInParts: Subject<Place> = createSubject("bun in parts", { maxPartBytes: 2_000_000 }, createBunStorage)

/** What {@link bun} can do, for runners that must know before a case starts. */
export const capabilities: Capabilities = createBunStorage({ root: "." }).capabilities
