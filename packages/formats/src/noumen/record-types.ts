/** What the lines of noumen are, by their `type`. */
import { type KindOf, kindsBy, type RecordTypes } from "../base/record-types.ts"

export const RECORD_TYPES: RecordTypes = {
  message: ["content", "1"],
  summary: ["content", "1"],
  "compact-boundary": ["state", "1"],
  "file-checkpoint": ["state", "1"],
  "custom-title": ["annotation", "1"],
  metadata: ["annotation", "1"],
}

export const kindOfLine: KindOf = kindsBy(RECORD_TYPES)
