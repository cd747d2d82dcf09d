/** Leaves out the thoughts that models write in front of an answer, if their server does not take them out. */

/**
 * The marks around thoughts: `<think>` of most open models and its variants, `[THINK]` of Magistral, `◁think▷` of Kimi, the channels of
 * Gemma 4 and gpt-oss. docs.vllm.ai/en/latest/api/vllm/reasoning lists most of them (November 2026).
 */
const MARKS: readonly (readonly [open: string, close: string])[] = [
  ...["think", "thinking", "thought", "thoughts", "reasoning", "seed:think"].map(
    (name) => [`<${name}>`, `</${name}>`] as const,
  ),
  ["[THINK]", "[/THINK]"],
  ["◁think▷", "◁/think▷"],
  ["<|channel>thought", "<channel|>"],
  ["<|channel|>analysis<|message|>", "<|channel|>final<|message|>"],
]

/** The text behind all blocks of thoughts that it begins with, trimmed. Undefined if the last one is not closed: the text is cut off. */
export function withoutThoughts(text: string): string | undefined {
  let rest = behindUnopened(text).trim()
  for (;;) {
    const begin = rest.toLowerCase()
    const marks = MARKS.find(([open]) => begin.startsWith(open.toLowerCase()))
    if (marks === undefined) return rest
    const close = marks[1].toLowerCase()
    const end = begin.indexOf(close)
    if (end < 0) return undefined
    rest = rest.slice(end + close.length).trim()
  }
}

/**
 * The templates of some models put the opening mark into the prompt, so that an answer has only the closing one, on a line of its own. A
 * text that speaks about the marks names the opening one first.
 */
function behindUnopened(text: string): string {
  const found = /^[ \t]*<\/(think|seed:think)>[ \t]*$/im.exec(text)
  if (found === null) return text
  const open = text.toLowerCase().indexOf(`<${(found[1] as string).toLowerCase()}>`)
  return open >= 0 && open < found.index ? text : text.slice(found.index + found[0].length)
}
