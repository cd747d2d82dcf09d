/** All formats, in the order in which `identify` tries them: a format whose files another one could take for its own comes first. */
import type { Format, Writer } from "./base/format.ts"
import { claudeCode } from "./claude-code/index.ts"
import { qwenCode } from "./qwen-code/index.ts"
import { codex } from "./codex/index.ts"
import { copilot } from "./copilot/index.ts"
import { dsh } from "./dsh/index.ts"
import { gemini } from "./gemini/index.ts"
import { opencode } from "./opencode/index.ts"
import { pi } from "./pi/index.ts"
import { records } from "./records/index.ts"
import { kimiCli } from "./kimi-cli/index.ts"
import { molf } from "./molf/index.ts"
import { cersei } from "./cersei/index.ts"
import { aiSdkUi } from "./ai-sdk-ui/index.ts"
import { atif } from "./atif/index.ts"
import { openaiMessages } from "./openai-messages/index.ts"
import { openaiAgents } from "./openai-agents/index.ts"
import { openaiResponses } from "./openai-responses/index.ts"
import { anthropic } from "./anthropic/index.ts"
import { noumen } from "./noumen/index.ts"

export const formats: readonly Format[] = [
  claudeCode,
  qwenCode,
  codex,
  copilot,
  gemini,
  opencode,
  kimiCli,
  dsh,
  records,
  molf,
  noumen,
  cersei,
  aiSdkUi,
  atif,
  openaiMessages,
  openaiResponses,
  openaiAgents,
  anthropic,
]

/** Everything that sessions are written as. Core reads the sessions of pi itself. */
export const writers: readonly Writer[] = [...formats.filter(isWriter), pi]

function isWriter(format: Format): format is Format & Writer {
  return format.write !== undefined
}
