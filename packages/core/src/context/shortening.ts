/** How a context shows tool results shorter than the log has them, as a value: a session calls it, and `shorten` of `@sessions/core/compaction` makes it. */
import type { Calibration } from "../format/entry.ts"
import type { Message } from "../format/message.ts"
import type { TokenCounter } from "../format/tokens.ts"
import type { ContextMessage, PrunedResult } from "./types.ts"

export interface PruneSizes {
  /** Tokens. Required for pruning by shares (else `invalid`). */
  readonly window?: number | undefined
  /** Tokens that the model gets in addition to the messages; default 0. */
  readonly otherTokens?: number
  /** Tokens of one message; default: an estimate. */
  readonly count?: TokenCounter | undefined
  /** Sizes by earlier reports of providers, as compactions store it. */
  readonly known?: Calibration | undefined
  /** The usage of the answers from this index on calibrates the tokens of what follows each. Default: no usage does. */
  readonly reportsFrom?: number | undefined
}

export interface Pruned<M extends Message = Message> {
  /** The same number of messages in the same order; unchanged ones are the same objects. */
  readonly messages: readonly ContextMessage<M>[]
  /** The shortened results, oldest first. */
  readonly pruned: readonly PrunedResult[]
}

/** Shortens old tool results in contexts; made by `shorten` of `@sessions/core/compaction`. */
export interface Shortening {
  readonly prune: <M extends Message>(messages: readonly ContextMessage<M>[], sizes: PruneSizes) => Pruned<M>
}
