/** Collects what a request leaves out or changes: one diagnostic for each kind and rule, with the first entry. */
import { Losses } from "@sessions/formats/messages/values"
import type { LossCode, RequestDiagnostic } from "./types.ts"

const EDIT =
  " `session.edit` gives the entry another content for models, `session.tombstone` leaves it out of every request."

interface Sentence {
  readonly what: string
  /** Why, if the code that found it names no rule. */
  readonly why: string
  /** What a person can do. */
  readonly wayOut?: string
}

const SENTENCES: Readonly<Record<LossCode, Sentence>> = {
  thinking: {
    what: "thinking not sent",
    why: "another provider made it, or it has no signature, or nothing follows it",
  },
  images: { what: "images not sent", why: "the provider takes none in this place", wayOut: EDIT },
  images_moved: {
    what: "images of tool results sent as the user's behind the results",
    why: "the provider takes none in results",
  },
  files: { what: "files sent as their paths only", why: "read them into texts or images to send more", wayOut: EDIT },
  attachments: { what: "attachments not sent", why: "read them into texts or images of the message", wayOut: EDIT },
  blocks: { what: "blocks not sent", why: "the provider does not have their types", wayOut: EDIT },
  errors: {
    what: "failed tool results not marked as errors",
    why: "the provider has no mark. Their content is sent",
  },
  partial_calls: { what: "tool calls not sent", why: "their arguments did not arrive completely" },
  hosted_calls: {
    what: "calls of the provider's own tools, or their results, not sent",
    why: "the other half did not arrive",
    wayOut: EDIT,
  },
  ids: { what: "tool calls sent with another id", why: "the provider takes no such id" },
  names: {
    what: "tool calls sent with another name",
    why: "the provider takes no such name",
    wayOut: " Declare the tool under `toolName(name)`.",
  },
  expired: {
    what: "references into the provider's store sent as what is left of them",
    why: "the store keeps them for a time, which has passed. Texts and transcripts are sent",
  },
  signatures: { what: "signatures of thinking not sent", why: "the provider has no place for them. Its text is sent" },
  system_moved: {
    what: "system messages moved to the beginning",
    why: "the provider takes none between messages",
  },
  surrogates: {
    what: "messages with halves of surrogate pairs",
    why: "no provider takes them, U+FFFD is sent in their place",
    wayOut: EDIT,
  },
  repaired: { what: "repairs made", why: "as `session.context()` makes them" },
}

export class Lost {
  readonly #found = new Map<
    string,
    { readonly code: LossCode; readonly rule: string; count: number; readonly entryId: string }
  >()

  /** Of the entry that is mapped: most have none. */
  #losses = new Losses()

  /** `why`: the rule of the receiver, as the end of a sentence. Cases with different rules have a diagnostic each. */
  add(code: LossCode, entryId: string, count = 1, why?: string): void {
    if (count === 0) return
    const rule = why ?? SENTENCES[code].why
    const key = `${code} ${rule}`
    const found = this.#found.get(key)
    if (found === undefined) this.#found.set(key, { code, rule, count, entryId })
    else found.count += count
  }

  /** Runs a mapping of `@sessions/formats` for an entry, and takes over what it reports. */
  mapped<T>(entryId: string, map: (losses: Losses) => T): T {
    const result = map(this.#losses)
    this.#losses.report({
      note: ({ what, count }) => {
        this.add(isCode(what) ? what : "blocks", entryId, count)
        this.#losses = new Losses()
      },
    })
    return result
  }

  diagnostics(): readonly RequestDiagnostic[] {
    return [...this.#found.values()].map(({ code, rule, count, entryId }) => {
      const { what, wayOut = "" } = SENTENCES[code]
      const cases = count === 1 ? "1 case" : `${count} cases`
      const where = entryId === "" ? "" : ` The first is in entry ${entryId}.`
      const message = `${cases} of ${what}: ${rule}.${where}${wayOut}`
      return { code, message, count, entryId }
    })
  }
}

function isCode(what: string): what is LossCode {
  return Object.hasOwn(SENTENCES, what)
}
