// The form in which a researcher signs in. What is typed goes to the server by HTTP, whose answer sets the session's cookie.

const enter = async (said, problem) => {
  let message = "The server cannot be reached. Try again.";
  try {
    // Relative, so that it also leads to an app that is served below an address of its own.
    const answer = await fetch("./sign-in", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(said) });
    if (answer.ok) return location.reload();
    message = (await answer.json()).message;
  } catch {
    // The message above.
  }
  problem.textContent = message;
};

export default function ({ data, parentElement }) {
  const form = parentElement.querySelector("form");
  const problem = form.querySelector("[role=alert]");
  const shown = JSON.stringify(data);
  if (form.dataset.shown === shown) return;
  form.dataset.shown = shown;
  if (data.once) return void enter({ once: data.once }, problem);
  const fields = data.fields.map(({ name, label, autocomplete }) => {
    const field = document.createElement("label");
    const input = Object.assign(document.createElement("input"), { name, autocomplete, required: true, type: "password" });
    field.append(label, input);
    return field;
  });
  const button = Object.assign(document.createElement("button"), { textContent: data.button });
  form.replaceChildren(...fields, problem, button);
  form.onsubmit = async (event) => {
    event.preventDefault();
    button.disabled = true;
    problem.textContent = "";
    await enter(Object.fromEntries(new FormData(form)), problem);
    button.disabled = false;
  };
}
