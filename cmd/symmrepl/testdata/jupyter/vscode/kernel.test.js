'use strict';

// What the Jupyter extension of VS Code sends, and what it expects: node kernel.test.js.
// KERNEL_JSON names the kernel specification, of two ranks.

const assert = require('node:assert/strict');
const fs = require('node:fs');
const {after, before, test: timed} = require('node:test');

const {start} = require('./kernel.js');

const spec = JSON.parse(fs.readFileSync(process.env.KERNEL_JSON, 'utf8'));

// The forms of an output in the order in which VS Code prefers them.
const PREFERRED = ['application/vnd.', 'text/html', 'text/markdown', 'image/png', 'image/svg+xml', 'image/jpeg', 'application/json', 'text/plain'];

// shown returns the form of an output that VS Code shows.
const shown = output => PREFERRED.map(kind => Object.keys(output.data).find(form => form.startsWith(kind))).find(Boolean);

// test has a time limit, because a message that does not come is waited for.
const test = (name, check) => timed(name, {timeout: 60_000}, check);

let kernel;
before(async () => { kernel = await start(spec); });
after(async () => {
  assert.equal(await kernel.kill('SIGTERM'), 143);
  assert.equal(kernel.printed, '');
});

test('the specification says how to interrupt, and names the language', () => {
  assert.equal(spec.interrupt_mode, 'message');
  assert.equal(spec.language, 'go'); // of the cells' editor
  assert.equal(spec.argv.filter(arg => arg === '{connection_file}').length, 1);
});

test('it says what it is on both channels before the first cell', async () => {
  for (const channel of ['control', 'shell']) {
    const {header, content} = await kernel.request(channel, 'kernel_info_request');
    assert.equal(header.msg_type, 'kernel_info_reply');
    assert.equal(content.status, 'ok');
    const {name, mimetype, file_extension, codemirror_mode, pygments_lexer} = content.language_info;
    assert.deepEqual([name, mimetype, file_extension, codemirror_mode, pygments_lexer], ['go', 'text/x-go', '.go', 'go', 'go']);
  }
  assert.equal(kernel.connection.connectionStatus, 'connected');
  await kernel.until(() => kernel.connection.status === 'idle');
  assert.ok(kernel.published.some(message => message.header.msg_type === 'status'));
});

test('a cell runs on all ranks', async () => {
  const future = kernel.execute('fmt.Println("hi")\nsymm.Rank()');
  const {content} = await future.done;
  assert.equal(content.status, 'ok');
  assert.deepEqual(future.outputs.map(({type, text, data}) => [type, text ?? data['text/plain']]), [
    ['stream', '[0,1] hi\n'], ['execute_result', '[0] 0\n[1] 1'],
  ]);
  assert.equal(future.outputs[1].execution_count, content.execution_count);
});

test('a silent cell has no number and is not in the history', async () => {
  const count = async () => (await kernel.execute('1').done).content.execution_count;
  const was = await count();
  const future = kernel.execute('fmt.Println(7)', {silent: true, store_history: false, allow_stdin: false, stop_on_error: false});
  assert.equal((await future.done).content.status, 'ok');
  assert.equal(await count(), was + 1);
  const {content} = await kernel.connection.requestHistory({output: false, raw: true, hist_access_type: 'tail', n: 3});
  assert.ok(!JSON.stringify(content.history).includes('Println(7)'));
});

test('an error has the name, the message and the stack that make the error of VS Code', async () => {
  const future = kernel.execute('panic("stop")');
  const {content} = await future.done;
  const [{type, ename, evalue, traceback}] = future.outputs;
  assert.deepEqual([future.outputs.length, type, ename, evalue], [1, 'error', 'panic', `[0,1] In[${content.execution_count}]:1:1: panic: stop`]);
  assert.deepEqual(content.traceback, traceback);
  assert.ok(traceback.join('\n').includes('panic("stop")'));
});

test('cells that were sent before an error run, as VS Code asks, and its own queue stops', async () => {
  const failed = kernel.execute('panic("stop")'), next = kernel.execute('40 + 2');
  assert.equal((await failed.done).content.status, 'error');
  assert.equal((await next.done).content.status, 'ok');
  assert.equal(next.outputs[0].data['text/plain'], '[0,1] 42');
});

test('interrupt_request on the shell channel ends a wait, and variables stay', async () => {
  await kernel.execute('kept := 7').done;
  const future = kernel.execute('fmt.Println("waiting")\nselect {}');
  await kernel.begun(future);
  assert.equal(kernel.connection.status, 'busy');
  const {header, content} = await kernel.request('shell', 'interrupt_request');
  assert.deepEqual([header.msg_type, content.status], ['interrupt_reply', 'ok']);
  assert.equal((await future.done).content.ename, 'interrupted');
  const after = kernel.execute('kept');
  await after.done;
  assert.equal(after.outputs[0].data['text/plain'], '[0,1] 7');
});

test('requests are answered while a cell runs', async () => {
  const future = kernel.execute('fmt.Println("waiting")\nselect {}');
  await kernel.begun(future);
  assert.deepEqual((await kernel.connection.requestComplete({code: 'strings.Repl', cursor_pos: 12})).content.matches, ['Replace', 'ReplaceAll', 'Replacer']);
  assert.equal((await kernel.request('control', 'kernel_info_request')).content.status, 'ok');
  await kernel.request('shell', 'interrupt_request');
  await future.done;
});

test('the kinds of completions are those of which VS Code has icons, and each is explained', async () => {
  const code = 'x := strings.ReplaceA';
  const {content} = await kernel.connection.requestComplete({code, cursor_pos: code.length});
  const types = content.metadata._jupyter_types_experimental;
  assert.ok(types.length >= content.matches.length); // else VS Code does not look at them
  assert.deepEqual(types.map(({text, start, end}) => [text, code.slice(start, end)]), [['ReplaceAll', 'ReplaceA']]);
  // It asks for the documentation of the chosen one, of the text before the word and the word.
  const chosen = code.slice(0, content.cursor_start) + content.matches[0];
  const explained = (await kernel.connection.requestInspect({code: chosen, cursor_pos: chosen.length, detail_level: 0})).content;
  assert.equal(explained.found, true);
  assert.ok(explained.data['text/plain'].startsWith('func ReplaceAll(s, old, new string) string\n'), explained.data['text/plain']);
});

test('a cell asks for a line', async () => {
  const asked = [];
  const future = kernel.execute('var who string\nfmt.Scan(&who)\nwho', {answer: content => { asked.push(content); return 'Ann'; }});
  assert.equal((await future.done).content.status, 'ok');
  assert.deepEqual(asked, [{prompt: '', password: false}]);
  assert.equal(future.outputs.at(-1).data['text/plain'], '[0,1] "Ann"');
});

test('outputs have forms that VS Code shows', async () => {
  for (const [cell, form] of Object.entries({
    'symm.Rank()': 'text/plain',
    'symm.Empty(symm.F32, 2, 2).Fill(1)': 'text/html',
    'chart.Lines([]float32{1, 2, 3})': 'image/png',
    'display.Markdown("*a*")': 'text/markdown',
    'display.JSON(map[string]any{"a": 1})': 'application/json',
    ':topo': 'image/png',
    '[]string{"a", "b\\nc"}[symm.Rank()]': 'text/html',
    'display.Slider("n", 8, 2, 64)': 'application/vnd.jupyter.widget-view+json',
  })) {
    const future = kernel.execute(cell);
    assert.equal((await future.done).content.status, 'ok', cell);
    const output = future.outputs.filter(({data}) => data && !/^\[0,1\] note: /.test(data['text/plain'])).at(-1);
    assert.equal(shown(output), form, cell);
    assert.ok('text/plain' in output.data, cell);
  }
});

test('text that changes keeps its identity', async () => {
  const future = kernel.execute('p := display.NewProgress("steps", 3)\nfor range 3 {\n\tp.Add(1)\n}');
  assert.equal((await future.done).content.status, 'ok');
  const updates = kernel.published.filter(({header, parent_header}) =>
    header.msg_type === 'update_display_data' && parent_header.msg_id === future.msg.header.msg_id);
  const bars = future.outputs.filter(({transient}) => transient?.display_id);
  assert.equal(bars.length, 1);
  assert.ok(updates.length > 0);
  for (const {content} of updates) assert.equal(content.transient.display_id, bars[0].transient.display_id);
});

test('a widget has a comm, of which the state can be asked, and takes changes', async () => {
  const future = kernel.execute('display.Interact(func(m int) int { return m * m }, display.Slider("m", 3, 0, 9))');
  assert.equal((await future.done).content.status, 'ok');
  const opened = kernel.published.filter(({header, parent_header}) => header.msg_type === 'comm_open' && parent_header.msg_id === future.msg.header.msg_id);
  const slider = opened.find(({content}) => content.data.state._model_name === 'IntSliderModel');
  const {content} = await kernel.connection.requestCommInfo({target_name: 'jupyter.widget'});
  assert.deepEqual(content.comms[slider.content.comm_id], {target_name: 'jupyter.widget'});
  const change = kernel.connection.sendShellMessage(
    require('@jupyterlab/services').KernelMessage.createMessage({
      msgType: 'comm_msg', channel: 'shell', username: kernel.connection.username, session: kernel.connection.clientId,
      content: {comm_id: slider.content.comm_id, data: {method: 'update', state: {value: 5}, buffer_paths: []}},
    }), false, true);
  await change.done;
  const area = opened.find(({content}) => content.data.state._model_name === 'OutputModel').content.comm_id;
  const shows = () => kernel.published.some(({header, content}) => header.msg_type === 'comm_msg' && content.comm_id === area &&
    JSON.stringify(content.data.state?.outputs ?? '').includes('[0,1] 25'));
  await kernel.until(shows);
});

test('the extension restarts the kernel by a new process, after it has killed the old one', async () => {
  const old = await start(spec);
  await old.execute('x := 1').done;
  assert.equal(await old.kill('SIGKILL'), 'SIGKILL');
  const next = await start(spec);
  assert.equal((await next.execute('x').done).content.status, 'error');
  assert.equal(await next.kill('SIGTERM'), 143);
});
