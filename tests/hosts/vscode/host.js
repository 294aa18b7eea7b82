// Connects VS Code's renderer of ipywidgets to a kernel of the server that this page comes from.
// `host.run(code)` runs a cell and shows its widgets, `host.ask(expression)` evaluates in the kernel; `host.failures` says what went wrong.

import { KernelManager, KernelMessage, ServerConnection } from "@jupyterlab/services";

const VIEW = "application/vnd.jupyter.widget-view+json";
const failures = [];

async function start() {
  const baseUrl = `${location.origin}/`;
  const serverSettings = ServerConnection.makeSettings({ baseUrl, wsUrl: baseUrl.replace("http", "ws"), appendToken: false });
  const kernel = await new KernelManager({ serverSettings }).startNew({ name: "python3" });

  // The renderer's two entries, as VS Code calls them; it leaves its classes in globals.
  const renderer = await import(new URL("ipywidgets.js", location.href).href);
  renderer.activate();
  globalThis.vscIPyWidgets8.load();

  const known = new Set();
  const scripts = {
    widgetsRegisteredInRequireJs: known,
    // VS Code looks for a package's script among the environment's nbextensions, too.
    async loadWidgetScript(name) {
      globalThis.requirejs.config({ paths: { [name]: `${location.origin}/static/nbextensions/${name}/index` } });
      known.add(name);
    },
    errorHandler: (...what) => failures.push(`no class: ${what.join(" ")}`),
    successHandler: () => {},
  };
  const place = document.body.appendChild(document.createElement("div"));
  const manager = new globalThis.vscIPyWidgets.WidgetManager(kernel, place, scripts, () => {});

  async function show(id, cell) {
    const node = cell.appendChild(document.createElement("div"));
    node.className = "cell-output-ipywidget-background";
    const model = await manager.get_model(id);
    await manager.display_view(null, await manager.create_view(model, {}), { node });
  }

  async function run(code) {
    const cell = document.body.appendChild(document.createElement("div"));
    const shown = [];
    const future = kernel.requestExecute({ code });
    future.onIOPub = (message) => {
      if (KernelMessage.isErrorMsg(message)) failures.push(message.content.traceback.join("\n"));
      const id = message.content.data?.[VIEW]?.model_id;
      if (id) shown.push(show(id, cell));
    };
    await future.done;
    await Promise.all(shown);
  }

  async function ask(expression) {
    const request = { code: "", user_expressions: { value: expression }, silent: true, store_history: false };
    return (await kernel.requestExecute(request).done).content.user_expressions.value;
  }

  return { run, ask, failures, end: () => kernel.shutdown() };
}

globalThis.host = start();
