import type { Sizes, Subject } from "@sessions/conformance"
import type { Capabilities } from "@sessions/core/storage"
import type { EtagForm } from "@sessions/s3"
import { makeBucket, newPrefix, openAt } from "./place.ts"

/** Limits that are tried at once; the sizes of everything else as users have them. */
const OPTIONS = { maxLineBytes: 500_000, maxBatchBytes: 4_000_000 }

/** Tried out once, not for each of the hundred places. */
let etags: EtagForm | undefined

export const server: Subject<string> = {
  name: "s3 server",
  async makeLocation() {
    await makeBucket()
    etags ??= (await openAt("").probe()).etags as EtagForm
    return newPrefix()
  },
  open: (prefix) => openAt(prefix, { ...OPTIONS, ...(etags !== undefined && { etags }) }),
}

export const capabilities: Capabilities = openAt("", OPTIONS).capabilities

/** A request takes milliseconds here, and three runtimes share one server. */
export const sizes: Partial<Sizes> = { race: 8, lines: 500 }
