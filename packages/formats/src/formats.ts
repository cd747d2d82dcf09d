/** All formats, in the order in which `identify` tries them: a format whose files another one could take for its own comes first. */
import type { Format } from "./base/format.ts"
import { claudeCode } from "./claude-code/index.ts"
import { codex } from "./codex/index.ts"
import { copilot } from "./copilot/index.ts"
import { gemini } from "./gemini/index.ts"
import { opencode } from "./opencode/index.ts"
import { records } from "./records/index.ts"
import { molf } from "./molf/index.ts"
import { noumen } from "./noumen/index.ts"

export const formats: readonly Format[] = [claudeCode, codex, copilot, gemini, opencode, records, molf, noumen]
