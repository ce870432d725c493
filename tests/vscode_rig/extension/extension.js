"use strict";
// Starts the chats that the stand-in for the `code` command asks this window for, one after the other.

const fs = require("fs");
const path = require("path");
const vscode = require("vscode");

const RIG = process.env.VSCODE_RIG;
const CHATS = path.join(RIG, "chats");
const MODEL = { vendor: "customendpoint", id: "scripted" };
const PAUSE = 100;
const FOLDERS_WAIT = 3000;
const MOST_RELOADS = 5;
const BUILT_IN_MODES = ["agent", "ask", "edit"];
// VS Code finds a new mode file after a while, and takes `agent`, without a word, for a mode that it does not know.
const MODE_WAIT = 3000;

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

function log(event, details) {
  const line = JSON.stringify({ time: new Date().toISOString(), event, ...details });
  fs.appendFileSync(path.join(RIG, "log", "extension.log"), line + "\n");
}

/** The oldest request for this window, taken out of the folder; other windows have their own. */
function takeRequest(workspace) {
  const names = fs.readdirSync(CHATS).filter((name) => name.endsWith(".json"));
  for (const name of names.sort()) {
    const file = path.join(CHATS, name);
    const request = JSON.parse(fs.readFileSync(file, "utf8"));
    if (request.workspace === workspace) {
      fs.unlinkSync(file);
      return request;
    }
  }
  return undefined;
}

async function modelIsThere() {
  return (await vscode.lm.selectChatModels({ vendor: MODEL.vendor })).length > 0;
}

async function chat(request) {
  log("chat", request);
  if (!BUILT_IN_MODES.includes(request.mode)) await pause(MODE_WAIT);
  await vscode.commands.executeCommand("workbench.action.chat.newChat");
  const response = await vscode.commands.executeCommand("workbench.action.chat.open", {
    query: request.prompt,
    mode: request.mode,
    attachFiles: request.files.map((file) => vscode.Uri.file(file)),
    modelSelector: MODEL,
    blockOnResponse: true,
  });
  log("done", { details: response && response.errorDetails });
}

function namesFolders(workspace) {
  return (JSON.parse(fs.readFileSync(workspace, "utf8")).folders || []).length > 0;
}

/** On a busy machine a window may miss the folders of its workspace when it starts: then they are there after a reload. */
async function foldersAreThere(context, workspace) {
  if (!namesFolders(workspace)) return true;
  for (let waited = 0; waited < FOLDERS_WAIT; waited += PAUSE) {
    if ((vscode.workspace.workspaceFolders || []).length > 0) return true;
    await pause(PAUSE);
  }
  const reloads = context.workspaceState.get("reloads", 0);
  log("no folders", { workspace, reloads });
  if (reloads < MOST_RELOADS) {
    await context.workspaceState.update("reloads", reloads + 1);
    await vscode.commands.executeCommand("workbench.action.reloadWindow");
  }
  return false;
}

exports.activate = async (context) => {
  const file = vscode.workspace.workspaceFile;
  if (!file) return; // the window that only prepares the profile
  log("active", { version: vscode.version, workspace: file.fsPath });
  if (!(await foldersAreThere(context, file.fsPath))) return;
  while (!(await modelIsThere())) await pause(PAUSE);
  log("ready", { workspace: file.fsPath });
  for (;;) {
    const request = takeRequest(file.fsPath);
    if (request) await chat(request).catch((error) => log("error", { message: error.message }));
    else await pause(PAUSE);
  }
};
