// What is tried with each agent, as data: each driver plays what its agent can. A scene is a list of steps:
//
// - `ask`: a prompt; the program is started for it, and resumes the session of the scene if there is one. `answers`: what the model says, one list of blocks
//   for each of its steps. A block is a text, `{ thinking }`, or what a tool is asked: `{ read: FILE }`, `{ shell: COMMAND }`, `{ skill: NAME }`,
//   `{ subagent: PROMPT }`. `{ hold: true }`: here the model says no more; `cut` of a block: in its middle
// - `stop`: the signal that the program gets at the hold; `SIGINT` is what Ctrl-C in a terminal sends
// - `file`, `image`: attached to the prompt. `model`: another one. `fork`: the session goes on as a copy. `name`: the session gets it
// - `act`: `compact`, `rewind` (to before the last prompt), `queue` (a second prompt while the first is answered), `move` (the folder)
//
// A step needs the features that it names, see `featuresOf`. An agent without one says why, and does not play the scene.
export const NOTES = "notes.txt"
export const PICTURE = "picture.png"
export const HANG = "hang.mjs"
/** The name of a skill that the folder has. */
export const SKILL = "pears"

const read = { read: NOTES }
/** Agents stop a model that says the same again and again. */
const numbered = (text, times) => Array.from({ length: times }, (_, i) => `${i} ${text}`).join(" ")

export const SCENES = [
  { name: "one question", steps: [{ ask: "first question" }] },
  { name: "two questions", steps: [{ ask: "first question" }, { ask: "second question" }] },
  { name: "the same question again", steps: [{ ask: "same question" }, { ask: "same question" }] },
  { name: "a call of a tool", steps: [{ ask: "please call it", answers: [[read], ["Pears."]] }] },
  {
    name: "three turns, two of them with calls",
    steps: [
      { ask: "please call it", answers: [[read], ["Pears."]] },
      { ask: "a question between" },
      { ask: "and call it again", answers: [[read], ["Plums."]] },
    ],
  },
  {
    name: "several tools at once",
    steps: [{ ask: "all at once", answers: [[read, { shell: "echo one" }, { shell: "echo two" }], ["Done."]] }],
  },
  {
    name: "one tool after the other",
    steps: [
      {
        ask: "step by step",
        answers: [["First.", { shell: "echo one" }], ["Then.", { shell: "echo two" }], [read], ["Finished."]],
      },
    ],
  },
  {
    name: "tools that fail",
    steps: [
      {
        ask: "this fails",
        answers: [[{ read: "no-such-file.txt" }], [{ shell: "echo broken >&2; exit 3" }], ["It failed."]],
      },
    ],
  },
  {
    name: "a tool that the agent does not have",
    steps: [{ ask: "call what is not there", answers: [[{ unknown: "no_such_tool" }], ["There is none."]] }],
  },
  {
    name: "thinking",
    steps: [
      { ask: "think", answers: [[{ thinking: "Let me see." }, "Seen."]] },
      { ask: "think and call", answers: [[{ thinking: "A call, then." }, read], ["Called."]] },
    ],
  },
  {
    name: "markup, other scripts and half a line",
    steps: [
      {
        ask: "<b>bold</b> & 数据 🌳 e\u0301 \u05d0\n\n```sh\nls\n```\n  indented",
        answers: [["<i>schön</i> 🍐\n\n- \u0085"]],
      },
      {
        ask: "and then?",
        answers: [[{ shell: "printf 'tab\\there \\360\\237\\214\\263 \\033[31mred\\033[0m\\r\\nline'" }], ["ok"]],
      },
    ],
  },
  {
    name: "separators of lines in texts",
    steps: [
      { ask: "one\u2028two", answers: [["three\u2029four"]] },
      { ask: "and then?", answers: [[{ shell: "printf 'five\\342\\200\\250six'" }], ["ok"]] },
    ],
  },
  { name: "a long answer", steps: [{ ask: "say much", answers: [[numbered("words", 20_000)]] }] },
  {
    name: "a long result",
    steps: [{ ask: "show much", answers: [[{ shell: "seq 1 20000" }], ["That was long."]] }],
  },
  { name: "a long prompt", steps: [{ ask: `see this: ${numbered("a line of a log\n", 2000)}` }] },
  {
    name: "an empty answer",
    steps: [{ ask: "a question before it" }, { ask: "say nothing", answers: [[""]] }],
    mayFail: true,
  },
  {
    name: "an empty result",
    steps: [{ ask: "silence", answers: [[{ shell: "true" }], ["Nothing was said."]] }],
  },
  {
    name: "another model in the middle",
    steps: [{ ask: "first question" }, { ask: "to the other", model: "other" }, { ask: "and back" }],
  },
  {
    name: "interrupted before the first token",
    steps: [{ ask: "a question before it" }, { ask: "stop at once", answers: [[{ hold: true }]], stop: "SIGINT" }],
  },
  {
    name: "interrupted in the middle of a text",
    steps: [
      { ask: "a question before it" },
      { ask: "stop in a text", answers: [[{ text: "Half of it, and no more.", cut: true }]], stop: "SIGINT" },
    ],
  },
  {
    name: "interrupted between a text and a call",
    steps: [
      { ask: "a question before it" },
      { ask: "stop behind a text", answers: [["A whole text.", { hold: true }]], stop: "SIGINT" },
    ],
  },
  {
    name: "interrupted in the arguments of a call",
    steps: [
      { ask: "a question before it" },
      { ask: "stop in a call", answers: [[{ ...read, cut: true }]], stop: "SIGINT" },
    ],
  },
  {
    name: "interrupted while a tool runs",
    steps: [{ ask: "stop in a tool", answers: [["Wait.", { shell: `node ${HANG}` }]], stop: "SIGINT" }],
  },
  {
    name: "interrupted while the second of three tools runs",
    steps: [{ ask: "stop in the second", answers: [[read, { shell: `node ${HANG}` }, read]], stop: "SIGINT" }],
  },
  {
    name: "interrupted behind a result",
    steps: [{ ask: "stop behind a result", answers: [[read], [{ hold: true }]], stop: "SIGINT" }],
  },
  {
    name: "gone on after an interruption",
    steps: [
      { ask: "stop in a tool", answers: [[{ shell: `node ${HANG}` }]], stop: "SIGINT" },
      { ask: "go on", answers: [[read], ["Gone on."]] },
    ],
  },
  {
    name: "killed in the middle of a text",
    steps: [
      { ask: "a question before it" },
      { ask: "killed in a text", answers: [[{ text: "Half of it, and no more.", cut: true }]], stop: "SIGKILL" },
    ],
  },
  {
    name: "killed while a tool runs",
    steps: [
      { ask: "killed in a tool", answers: [[{ shell: `node ${HANG}` }]], stop: "SIGKILL" },
      { ask: "after the kill" },
    ],
  },
  { name: "a file beside the prompt", steps: [{ ask: "look at the file", file: NOTES }, { ask: "what was in it?" }] },
  {
    name: "a picture beside the prompt",
    steps: [{ ask: "look at the picture", image: PICTURE }, { ask: "what was on it?" }],
  },
  {
    name: "a fork",
    steps: [{ ask: "first question" }, { ask: "second question" }, { ask: "another way", fork: true }],
  },
  {
    name: "a subagent",
    steps: [
      { ask: "let another do it", answers: [[{ subagent: "the task of the other" }], ["It is done."]] },
      { ask: "and now?" },
    ],
  },
  {
    name: "a skill",
    steps: [{ ask: "use the skill", answers: [[{ skill: SKILL }], ["Pears are green."]] }, { ask: "and now?" }],
  },
  {
    name: "a skill among other tools",
    steps: [
      {
        ask: "use the skill",
        answers: [[{ shell: "sleep 1; echo one" }, { skill: SKILL }, read], [{ skill: SKILL }], ["Pears are green."]],
      },
      { ask: "and now?" },
    ],
  },
  {
    name: "a compaction",
    steps: [
      { ask: "first question" },
      { ask: "please call it", answers: [[read], ["Pears."]] },
      { act: "compact" },
      { ask: "after it" },
    ],
  },
  {
    name: "a compaction at the end",
    steps: [{ ask: "first question" }, { ask: "second question" }, { act: "compact" }],
  },
  {
    name: "a rewind",
    steps: [{ ask: "first question" }, { ask: "a wrong turn" }, { act: "rewind" }, { ask: "the right turn" }],
  },
  {
    name: "a prompt while it works",
    steps: [
      {
        ask: "begin the work",
        answers: [[{ shell: `node ${HANG}` }], ["Both seen."]],
        act: "queue",
        second: "one more thing",
      },
    ],
  },
  { name: "a name", steps: [{ ask: "first question" }, { act: "rename", to: "a name of its own" }, { ask: "and on" }] },
  {
    name: "a folder that has moved",
    steps: [{ ask: "please call it", answers: [[read], ["Pears."]] }, { act: "move" }, { ask: "from the new folder" }],
  },
]

/** What an agent must be able to do for a scene. */
export function featuresOf({ steps }) {
  const found = new Set()
  for (const step of steps) {
    for (const name of ["file", "image", "model", "fork"]) if (step[name] !== undefined) found.add(name)
    if (step.act !== undefined) found.add(step.act)
    if (step.stop !== undefined) found.add("stop")
    for (const block of (step.answers ?? []).flat())
      for (const name of ["read", "shell", "skill", "subagent", "thinking", "unknown"])
        if (block[name] !== undefined) found.add(name)
    if (/[\u2028\u2029]/.test(JSON.stringify(step))) found.add("separators")
  }
  return [...found]
}
