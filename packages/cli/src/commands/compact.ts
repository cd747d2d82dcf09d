import type { CompactionPreset, CompactionResult, CompactOptions } from "@sessions/core"
import { PRESETS } from "@sessions/core/compaction"
import { integerOption } from "../option-values.ts"
import type { Command } from "../command.ts"
import { defineCommand } from "../command.ts"
import { UsageError } from "../errors.ts"
import { formatNumber } from "../output/format.ts"
import { styled } from "../output/lines.ts"
import type { Line } from "../output/lines.ts"
import { commandSummarizer } from "../summarizer.ts"

const NAMES = Object.keys(PRESETS) as CompactionPreset[]

export const compact: Command = defineCommand({
  name: "compact",
  summary: "have what is old summarized; the log keeps all of it",
  args: ["ID"],
  options: {
    summarizer: { type: "string", value: "COMMAND", help: "a program that reads the prompt and prints the summary" },
    "keep-recent-tokens": { type: "string", value: "N", help: "newest tokens that stay as they are (default 20000)" },
    preset: { type: "string", value: "NAME", help: NAMES.join(", ") },
    instructions: { type: "string", value: "TEXT", help: "further wishes, put last in the prompt" },
    window: { type: "string", value: "N", help: "tokens that the model takes (default: by the model's name)" },
    timeout: { type: "string", value: "SECONDS", help: "for one answer of the program (default 300)" },
  },
  notes: [
    "COMMAND is a line for the shell. It gets the prompt on standard input and prints the summary on standard output; it finds the",
    "length to keep to in SESSIONS_MAX_TOKENS. Where it fails, prints nothing or takes too long, nothing is written.",
  ],
  examples: [
    'compact @last --summarizer "llm -m gpt-4o"',
    'compact 01JGN3 --summarizer ./summarize.sh --keep-recent-tokens 0 --instructions "Mind the open tests."',
    'compact @last --preset share-80 --summarizer "claude -p" --json',
  ],
  async run({ sessions, session: resolve, args: [ref = ""], values, call, io }) {
    if (values.summarizer === undefined || values.summarizer.trim() === "")
      throw new UsageError(
        'compact needs --summarizer "COMMAND", a program that reads the prompt and prints the summary.',
      )
    const keepRecentTokens = integerOption("keep-recent-tokens", values["keep-recent-tokens"], 0)
    const contextWindow = integerOption("window", values.window, 1)
    const seconds = integerOption("timeout", values.timeout, 1)
    const preset = NAMES.find((name) => name === values.preset)
    if (preset === undefined && values.preset !== undefined)
      throw new UsageError(`--preset takes ${NAMES.join(", ")}, not ${JSON.stringify(values.preset)}.`)
    const options: CompactOptions = {
      ...call,
      summarize: commandSummarizer(values.summarizer, io),
      ...(keepRecentTokens === undefined ? {} : { keepRecentTokens }),
      ...(contextWindow === undefined ? {} : { contextWindow }),
      ...(seconds === undefined ? {} : { timeout: seconds * 1_000 }),
      ...(preset === undefined ? {} : { preset }),
      ...(values.instructions === undefined ? {} : { instructions: values.instructions }),
    }
    const id = await resolve(ref)
    const session = await sessions.open(id, call)
    try {
      let missingHeadings: readonly string[] = []
      session.on("compact_complete", (event) => (missingHeadings = event.missingHeadings))
      const done = await session.compact(options)
      return { json: { id, ...done, missingHeadings }, text: () => lines(id, done, missingHeadings) }
    } finally {
      await session.close()
    }
  },
})

function lines(id: string, done: CompactionResult, missing: readonly string[]): Line[] {
  const { entryId, tokensBefore, tokensAfter, tooLarge } = done
  return [
    `compacted ${id}: about ${formatNumber(tokensBefore)} tokens before, ${formatNumber(tokensAfter)} after (entry ${entryId})`,
    ...(missing.length === 0 ? [] : [styled("yellow", `the summary lacks ${missing.join(", ")}`)]),
    ...(tooLarge === undefined ? [] : [styled("yellow", tooLarge)]),
  ]
}
