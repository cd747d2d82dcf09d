/** Which model was in force at each entry of a context. */
import type { Entry } from "../format/entry.ts"
import type { Selection } from "./select.ts"
import { modelOf, storedState } from "./state.ts"

/**
 * The name of the default model from each entry on, as the state of the context has it: a model that was chosen keeps its name whatever its
 * answers name, such as a dated version. An answer is by the model from it on. Empty: none was named yet.
 */
export function modelsOf({ entries, state }: Pick<Selection, "entries" | "state">): readonly string[] {
  let model: string | undefined
  let isChosen = false
  const models = entries.map(({ entry }) => {
    if (entry.type === "message") {
      if (!isChosen) model = modelOf(entry)?.model ?? model
    } else if (isChoice(entry)) {
      model = entry["model"]
      isChosen = true
    } else {
      const stored = storedState(entry)
      if (stored !== undefined) {
        model = stored.models["default"]?.model
        isChosen = stored.modelIsExplicit
      }
    }
    return model ?? ""
  })
  // It is that of the header.
  return model === undefined ? models.fill(state.models["default"]?.model ?? "") : models
}

function isChoice(entry: Entry): entry is Entry & { readonly model: string } {
  const { type, provider, model, role = "default" } = entry
  return type === "model_change" && role === "default" && typeof provider === "string" && typeof model === "string"
}
