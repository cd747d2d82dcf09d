import {
  compact as compactSession,
  type CompactionPreset,
  type CompactionResult,
  type CompactOptions,
  PRESETS,
} from "@sessions/core/compaction"
import { choiceOption, integerOption } from "../option-values.ts"
import { type Command, defineCommand } from "../command.ts"
import { UsageError } from "../errors.ts"
import { formatNumber } from "../output/format.ts"
import { type Line, styled } from "../output/lines.ts"
import { commandSummarizer } from "../summarizer.ts"

const PRESET_NAMES = Object.keys(PRESETS) as CompactionPreset[]

export const compact: Command = defineCommand({
  name: "compact",
  summary: "replace old messages in the context with a summary; the log keeps them",
  args: ["ID"],
  options: {
    summarizer: {
      type: "string",
      value: "COMMAND",
      help: "shell command that reads the prompt and prints the summary",
    },
    model: { type: "string", value: "COMMAND", help: "the same as --summarizer" },
    "keep-recent-tokens": { type: "string", value: "N", help: "newest tokens to keep as they are (default 20000)" },
    preset: { type: "string", value: "NAME", help: `compaction settings: ${PRESET_NAMES.join(", ")}` },
    anew: {
      type: "boolean",
      help: "make the last summary anew, without what was deleted or edited since; keeps the same messages",
    },
    instructions: { type: "string", value: "TEXT", help: "additional instructions at the end of the prompt" },
    window: {
      type: "string",
      value: "N",
      help: "context window of the model in tokens (default: from the model's name)",
    },
    timeout: { type: "string", value: "SECONDS", help: "time limit of one run of COMMAND (default 300)" },
  },
  notes: [
    "COMMAND runs in the shell. It reads the prompt from standard input and prints the summary to standard output; SESSIONS_MAX_TOKENS",
    "is the maximum length. If it fails, prints nothing or exceeds the time limit, the session stays unchanged.",
  ],
  examples: [
    'compact @last --summarizer "llm -m gpt-4o"',
    'compact 01JGN3 --summarizer ./summarize.sh --keep-recent-tokens 0 --instructions "Mind the open tests."',
    'compact @last --preset share-80 --summarizer "claude -p" --json',
  ],
  async run({ sessions, resolveSession, args: [ref = ""], values, callOptions, io, progress }) {
    const command = values.summarizer ?? values.model
    if (values.summarizer !== undefined && values.model !== undefined)
      throw new UsageError("use --summarizer or --model, not both.")
    if (command === undefined || command.trim() === "")
      throw new UsageError(
        'compact needs --summarizer "COMMAND", a shell command that reads the prompt and prints the summary.',
      )
    const keepRecentTokens = integerOption("keep-recent-tokens", values["keep-recent-tokens"], 0)
    const contextWindow = integerOption("window", values.window, 1)
    const seconds = integerOption("timeout", values.timeout, 1)
    const preset = choiceOption("preset", values.preset, PRESET_NAMES, undefined)
    const summarize = commandSummarizer(command, io)
    let requests = 0
    const options: CompactOptions = {
      ...callOptions,
      summarize: (prompt) => {
        const request = ++requests === 1 ? "" : `, request ${requests}`
        progress.update(() => `summarizing with ${command}${request}`)
        return summarize(prompt)
      },
      ...(keepRecentTokens === undefined ? {} : { keepRecentTokens }),
      ...(contextWindow === undefined ? {} : { contextWindow }),
      ...(seconds === undefined ? {} : { timeout: seconds * 1_000 }),
      ...(preset === undefined ? {} : { preset }),
      ...(values.anew === true ? { anew: true } : {}),
      ...(values.instructions === undefined ? {} : { instructions: values.instructions }),
    }
    const id = await resolveSession(ref)
    progress.update(() => `reading ${id}`)
    const session = await sessions.open(id, callOptions)
    try {
      let missingHeadings: readonly string[] = []
      session.on("compact_complete", (event) => (missingHeadings = event.missingHeadings))
      const result = await compactSession(session, options)
      return { json: { id, ...result, missingHeadings }, text: () => resultLines(id, result, missingHeadings) }
    } finally {
      await session.close()
    }
  },
})

function resultLines(
  id: string,
  { entryId, tokensBefore, tokensAfter, tooLarge }: CompactionResult,
  missing: readonly string[],
): Line[] {
  return [
    `compacted ${id}: about ${formatNumber(tokensBefore)} tokens before, ${formatNumber(tokensAfter)} after (entry ${entryId})`,
    ...(missing.length === 0 ? [] : [styled("yellow", `headings missing from the summary: ${missing.join(", ")}`)]),
    ...(tooLarge === undefined ? [] : [styled("yellow", tooLarge)]),
  ]
}
