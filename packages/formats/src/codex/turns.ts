/** The turns on the current path of a rollout: a rollback takes turns back, and older compactions repeat the texts of users. */
import type { Entry } from "@sessions/core"
import type { LogBuilder } from "../base/log-builder.ts"
import { textOf } from "../base/values.ts"
import { AGENT_MESSAGE } from "./codec.ts"

export class Turns {
  readonly #log: LogBuilder
  /** The text of each message that begins a turn. */
  readonly #users = new Map<string, string>()
  /** Messages that Codex puts in front of a turn. */
  readonly #contexts = new Set<string>()

  constructor(log: LogBuilder) {
    this.#log = log
  }

  add(entry: Entry): void {
    const { id, type } = entry
    if (type === "message") {
      const { role, synthetic, summary, content = [] } = entry.message
      if (role === "system" || (role === "user" && synthetic === true)) this.#contexts.add(id)
      else if (role === "user" && summary !== true) this.#users.set(id, textOf(content))
    } else if (type === "custom_message") {
      if (entry.customType === AGENT_MESSAGE) this.#users.set(id, textOf(entry.content))
    }
  }

  /** The texts of users on the path, oldest first. */
  userTexts(): readonly string[] {
    const texts: string[] = []
    for (const { id } of this.#log.pathTo(this.#log.leafId)) {
      const text = this.#users.get(id)
      if (text !== undefined && text !== "") texts.push(text)
    }
    return texts.reverse()
  }

  /**
   * The entry that the conversation ends with if its last turns are taken back, null if that is none. More turns than there are: all.
   * The messages that Codex put in front of the first of them go as well, unless it is the session's first turn. Undefined: nothing to do.
   */
  before(turns: number): string | null | undefined {
    const path = [...this.#log.pathTo(this.#log.leafId)]
    const users = path.flatMap(({ id }, i) => (this.#users.has(id) ? [i] : []))
    if (!(turns >= 1) || users.length === 0) return undefined
    let cut = users[Math.min(Math.trunc(turns), users.length) - 1] as number
    if (cut !== users.at(-1)) {
      for (const [i, { id, type }] of path.entries()) {
        if (i <= cut) continue
        if (this.#contexts.has(id)) cut = i
        else if (SEPARATORS.has(type)) break
      }
    }
    return path[cut + 1]?.id ?? null
  }
}

/** Entries that are not between a turn and the messages in front of it. */
const SEPARATORS: ReadonlySet<string> = new Set(["message", "custom_message", "compaction", "reset_boundary", "leaf"])

/**
 * The texts that a compaction without a replacement keeps: the last ones, up to 20,000 tokens of 4 bytes, the first of them cut.
 * `COMPACT_USER_MESSAGE_MAX_TOKENS` in `codex-rs/core/src/compact.rs`.
 */
export function keptTexts(texts: readonly string[]): readonly string[] {
  const kept: string[] = []
  let tokens = 20_000
  for (let i = texts.length - 1; i >= 0 && tokens > 0; i--) {
    const text = texts[i] as string
    const size = Math.ceil(new TextEncoder().encode(text).length / BYTES_PER_TOKEN)
    kept.unshift(size <= tokens ? text : cutInside(text, size - tokens))
    tokens -= size
  }
  return kept
}

const BYTES_PER_TOKEN = 4

/** The text without tokens in its middle, as Codex cuts it: half of the rest is in front of a notice, half behind. */
function cutInside(text: string, tokens: number): string {
  const bytes = new TextEncoder().encode(text)
  const half = Math.floor((bytes.length - tokens * BYTES_PER_TOKEN) / 2)
  const isInside = (at: number): boolean => ((bytes[at] ?? 0) & 0xc0) === 0x80
  let head = half
  while (head > 0 && isInside(head)) head--
  let tail = bytes.length - half
  while (tail < bytes.length && isInside(tail)) tail++
  const decoder = new TextDecoder()
  return `${decoder.decode(bytes.subarray(0, head))}…${tokens} tokens truncated…${decoder.decode(bytes.subarray(tail))}`
}
