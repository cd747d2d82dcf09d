import { expect, test } from "vitest"
import { AGENTS } from "../agents/drivers/index.mjs"
import { featuresOf, SCENES } from "../agents/scenes.mjs"

const BY_TOOLS = ["read", "shell", "subagent"]
const BY_ACTS = ["compact", "rewind", "rename", "queue"]

test.each(AGENTS)("$title does what a scene asks for, or says why not, and plays at least 20 scenes", (agent) => {
  const { tools, acts, cannot = {} } = agent
  const isAbsent = (feature) => Object.hasOwn(cannot, feature)
  const lacks = (feature) =>
    (BY_TOOLS.includes(feature) && tools[feature] === undefined) ||
    (BY_ACTS.includes(feature) && acts[feature] === undefined)
  const silent = SCENES.flatMap(featuresOf).filter((feature) => !isAbsent(feature) && lacks(feature))
  expect([...new Set(silent)]).toEqual([])
  expect(SCENES.filter((scene) => !featuresOf(scene).some(isAbsent)).length).toBeGreaterThanOrEqual(20)
})
