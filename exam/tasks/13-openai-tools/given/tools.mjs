/** The tools of the agent: their definitions for OpenAI's Chat Completions API, and the functions. A function may throw. */
export const definitions = [
  {
    type: "function",
    function: {
      name: "weather",
      description: "The weather in a city",
      parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    },
  },
  {
    type: "function",
    function: { name: "clock", description: "The time of day", parameters: { type: "object", properties: {} } },
  },
]

export const functions = {
  async weather({ city }) {
    if (city === "Atlantis") throw new Error("Atlantis is under water")
    return { city, sky: "clear" }
  },
  async clock() {
    return "12:00"
  },
}
