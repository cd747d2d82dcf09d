/** Long-term memory: facts from sessions in memory files, and their consolidation. Start with {@link createRecall}. */
export { createRecall } from "./recall.ts"
export type {
  Cleared,
  Extraction,
  ExtractionStatus,
  ExtractOptions,
  Recall,
  RecallEvents,
  RecallOptions,
} from "./types.ts"
export type { Gate, Progress } from "./extraction/conversation.ts"
export type { DroppedFact } from "./facts/answer.ts"
export { CATEGORY_LABELS, type Fact, type FactCategory } from "./facts/fact.ts"
export { EXTRACTION_PROMPT, EXTRACTION_SYSTEM_PROMPT } from "./extraction/prompt.ts"

// Memory files.
export { createDocumentMemory } from "./files/documents.ts"
export { CONSOLIDATION_FILES } from "./files/names.ts"
export type { MemoryFile, MemoryFiles, MemoryStore } from "./files/types.ts"

// Consolidation.
export { createConsolidation } from "./consolidation/create.ts"
export {
  CONSOLIDATE_PROMPT,
  GATHER_PROMPT,
  MAX_INDEX_LINES,
  ORIENT_PROMPT,
  PRUNE_PROMPT,
} from "./consolidation/prompts.ts"
export type {
  ConsolidateGateOptions,
  ConsolidateOptions,
  Consolidated,
  Consolidation,
  ConsolidationLock,
  ConsolidationOptions,
  ConsolidationPhase,
  ConsolidationTools,
  PhaseRequest,
  RunPhase,
  SearchResult,
  SessionRow,
  SessionText,
} from "./consolidation/types.ts"

export { RecallError, type RecallErrorCode } from "./error.ts"
