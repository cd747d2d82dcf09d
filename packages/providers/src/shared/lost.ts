/** Collects what a request leaves out: one diagnostic for each kind, with the first entry. */
import { Losses } from "@sessions/formats/messages/values"
import type { LossCode, RequestDiagnostic } from "./types.ts"

const SENTENCES: Readonly<Record<LossCode, (n: string) => string>> = {
  thinking: (n) => `${n} of thinking not sent: another provider made it, or it has no signature.`,
  images: (n) => `${n} of images not sent: the provider takes none in this place.`,
  images_moved: (n) => `${n} of images of tool results sent in a user message behind the results.`,
  files: (n) => `${n} of files sent as their paths only.`,
  attachments: (n) => `${n} of attachments not sent.`,
  blocks: (n) => `${n} of blocks not sent: the provider does not have their types.`,
  errors: (n) => `${n} of failed tool results not marked as errors: the provider has no mark. Their content is sent.`,
  partial_calls: (n) => `${n} of tool calls not sent: their arguments did not arrive completely.`,
  signatures: (n) => `${n} of signatures of thinking not sent. Its text is sent.`,
  system_moved: (n) => `${n} of system messages moved to the beginning: the provider takes none between messages.`,
  surrogates: (n) => `${n} of messages with halves of surrogate pairs, sent as U+FFFD: no provider takes them.`,
  repaired: (n) => `${n} of repairs made, as \`session.context()\` makes them.`,
}

export class Lost {
  readonly #found = new Map<LossCode, { count: number; readonly entryId: string }>()

  add(code: LossCode, entryId: string, count = 1): void {
    if (count === 0) return
    const found = this.#found.get(code)
    if (found === undefined) this.#found.set(code, { count, entryId })
    else found.count += count
  }

  /** Runs a mapping of `@sessions/formats` for an entry, and takes over what it reports. */
  mapped<T>(entryId: string, map: (losses: Losses) => T): T {
    const losses = new Losses()
    const result = map(losses)
    losses.report({ note: ({ what, count }) => this.add(isCode(what) ? what : "blocks", entryId, count) })
    return result
  }

  diagnostics(): readonly RequestDiagnostic[] {
    return [...this.#found].map(([code, { count, entryId }]) => {
      const cases = count === 1 ? "1 case" : `${count} cases`
      return { code, message: `${SENTENCES[code](cases)} The first is in entry ${entryId}.`, count, entryId }
    })
  }
}

function isCode(what: string): what is LossCode {
  return Object.hasOwn(SENTENCES, what)
}
