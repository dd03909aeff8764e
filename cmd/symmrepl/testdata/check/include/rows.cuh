#pragma once
constexpr int kRows = 1000;
