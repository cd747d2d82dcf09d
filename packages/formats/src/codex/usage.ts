/**
 * Reads the usage of responses. Newer versions write a `token_usage_record` for each response, older ones only `token_count` events, which
 * newer ones write as well, and which are repeated when only the rate limits have changed.
 */
import { type Fields, fieldsOf, jsonOf, numberOf } from "../base/values.ts"

export class UsageReader {
  /** The thread's usage when a response was last counted. */
  #counted: string | undefined
  #hasRecords = false
  #totalTokens = 0

  /** The tokens of the last response. */
  get totalTokens(): number {
    return this.#totalTokens
  }

  /** The usage of a response; undefined if it was counted before. */
  ofRecord(payload: Fields): Fields | undefined {
    this.#hasRecords = true
    return this.#count(payload["usage"], payload["thread_token_usage"])
  }

  /** The `info` of a `token_count`. */
  ofCount(info: Fields): Fields | undefined {
    return this.#hasRecords ? undefined : this.#count(info["last_token_usage"], info["total_token_usage"])
  }

  #count(usage: unknown, total: unknown): Fields | undefined {
    const key = jsonOf(Object.values(fieldsOf(total)))
    if (numberOf(fieldsOf(usage)["total_tokens"]) === undefined || key === this.#counted) return undefined
    this.#counted = key
    const read = usageOf(fieldsOf(usage))
    this.#totalTokens = numberOf(read["totalTokens"]) ?? 0
    return read
  }
}

/** Codex counts cached tokens as input, too. */
function usageOf(usage: Fields): Fields {
  const count = (name: string): number => numberOf(usage[name]) ?? 0
  return {
    input: Math.max(0, count("input_tokens") - count("cached_input_tokens")),
    output: count("output_tokens"),
    cacheRead: count("cached_input_tokens"),
    cacheWrite: count("cache_write_input_tokens"),
    totalTokens: count("total_tokens"),
  }
}
