/** What a compaction is asked for and what it gives. */
import type { CallOptions } from "../storage/contract.ts"

export interface SummarizeRequest {
  readonly system: string
  readonly prompt: string
  readonly maxTokens: number
  readonly signal?: AbortSignal
}

/** The caller's model. Rejecting, or an empty answer, fails the compaction and writes nothing. */
export type Summarize = (request: SummarizeRequest) => Promise<string>

export interface CompactOptions extends CallOptions {
  readonly summarize: Summarize
  /** Newest tokens that stay as they are; default 20,000. */
  readonly keepRecentTokens?: number
  /** Put last in the prompt. */
  readonly instructions?: string
}

export interface CompactionResult {
  readonly entryId: string
  readonly summary: string
  readonly tokensBefore: number
  readonly tokensAfter: number
}
